"""The attacker who joins the tables of several holders."""
