"""Tests of export and import."""
