"""Closed forms of the Bayesian settings: what holds at every size, without a list of data sets.

Source: Kaplan et al. 2025.
"""
