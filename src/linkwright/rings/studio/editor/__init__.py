"""The editor of model files in the browser: `linkwright edit my.yaml`.

    session.py   the file, its texts and their history; conflicts with other programs
    drawing.py   what is drawn as JSON, also half drawn
    responses.py the JSON of the present text: drawing, degrees of freedom, messages, kernels
    page_kernels.py    kernels for the page: built when a mechanism is complete, used again while only numbers change
    backdrop.py  photos and drawings behind the mechanism
    requests.py  the page, addresses of the server and what they do (`rings/studio/server.py` checks who asks)

Structure is computed here, motion by the page's own kernels. The edits themselves are `linkwright.model.edits`.
"""
