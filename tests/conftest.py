import os

import hypothesis

# Compiled kernels take longer than hypothesis' deadline on their first call only.
hypothesis.settings.register_profile("truepool", deadline=None, max_examples=60)
hypothesis.settings.register_profile(
    "ci", deadline=None, max_examples=60, derandomize=True
)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "truepool")
