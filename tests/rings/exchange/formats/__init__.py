"""Tests of export formats: what all of them share. What they write is tested where it is made."""
