"""A release that somebody received: opened, verified, asked."""
