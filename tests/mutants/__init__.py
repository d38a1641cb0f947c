"""Mutation testing: which small errors in the code would the tests not see? `make mutants`."""
