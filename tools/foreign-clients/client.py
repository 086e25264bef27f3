"""Uses the client that openapi-python-client has generated: parameters as lists, bodies, and errors as objects."""

import os
import sys

sys.path.insert(0, sys.argv[2])

from hookline_client import AuthenticatedClient  # noqa: E402
from hookline_client.api.me import get_me  # noqa: E402
from hookline_client.api.profiles import create_profile, list_profiles  # noqa: E402
from hookline_client.models import CreateProfileBody, GetMeFieldsItem  # noqa: E402

client = AuthenticatedClient(base_url=sys.argv[1], token=os.environ["TOKEN"])
me = get_me.sync_detailed(client=client, fields=[GetMeFieldsItem.ID, GetMeFieldsItem.FOLLOWERS_COUNT])
assert me.status_code == 200 and me.parsed.followers_count == 0, me
created = create_profile.sync_detailed(
    client=client, body=CreateProfileBody(username="ada", name="Ada Lovelace", followers_count=1815)
)
assert created.status_code == 201 and created.parsed.username == "ada", created
page = list_profiles.sync_detailed(client=client, limit=1)
assert page.status_code == 200 and len(page.parsed.data) == 1, page
refused = list_profiles.sync_detailed(client=client, limit=0)
assert refused.status_code == 400, refused
assert refused.parsed.code == "invalid_request", refused.parsed
assert refused.parsed.errors[0].parameter == "limit", refused.parsed
print("GET /me with a list of fields, POST and GET /profiles, and a 400 as an object: as expected")
