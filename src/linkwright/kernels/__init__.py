"""The equations of one mechanism as compiled programs."""
