"""Swanberg et al. 2025, Beyond the Worst Case: its figures, tables and statements."""
