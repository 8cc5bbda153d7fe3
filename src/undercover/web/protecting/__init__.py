"""What step 3 knows: what a table has room for, policies in its words, forms of methods, tables of others."""
