"""Files of other programs as descriptions: `importers` names the formats, each has a folder or a module.

The way of a file: safe text (`safe_xml`, `referenced_files`), a reader of its format (`urdf`, `sdf`, `mjcf`, `sketches`) that fills a
`robot_draft`, loops as joints (`structure_recognition`), and a start with closed loops (`start_pose`).
"""
