"""Views: what people look at. Pictures, animations, plots and a static page, all made from a System or a Trajectory.

A view reads results and computes no mechanics of its own. matplotlib and pillow are imported inside functions only, with
figure objects of their own: no global state, no window, the same file from the same input. Files are written to a
temporary name first and never replace an existing one unless `force` is given.
"""
