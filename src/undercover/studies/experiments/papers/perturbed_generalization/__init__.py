"""Tao, Xiao, Li & Zhang."""
