"""Controllers: what drives shall do, from a measured state and a motion or force to follow; one file a kind."""
