"""Non-centralized l-diversity: tables that stay safe next to those of others."""

from undercover.methods.noncentralized.method import NonCentralized as NonCentralized
