"""Non-centralized l-diversity: tables that stay safe next to those of others."""
