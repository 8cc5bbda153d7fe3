"""The web application: from a file to a release without code, on the holder's own machine.

A **table** somebody works on is a folder with a spec that is filled in step by step (:mod:`undercover.web.desks`). What
takes long is a **job** in a process of its own (:mod:`undercover.web.jobs`), which calls the same verbs as the command
line; the server holds no row of any table. Pages (:mod:`undercover.web.routes`) and the JSON interface
(:mod:`undercover.web.api`) are two ways to say the same to both.
"""
