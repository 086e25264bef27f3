"""Uses the client that openapi-python-client has generated: lists as parameters, bodies, maps, errors as objects, text."""

import os

from hookline_client import AuthenticatedClient
from hookline_client.api.endpoints import create_endpoint, get_endpoint
from hookline_client.api.exports import export_records
from hookline_client.api.me import get_me
from hookline_client.api.profiles import create_profile, list_profiles
from hookline_client.models import CreateEndpointBody, CreateProfileBody, GetMeFieldsItem

client = AuthenticatedClient(base_url=os.environ["HOOKLINE_URL"], token=os.environ["TOKEN"])
me = get_me.sync_detailed(client=client, fields=[GetMeFieldsItem.ID, GetMeFieldsItem.FOLLOWERS_COUNT])
assert me.status_code == 200 and me.parsed.followers_count == 0, me
created = create_profile.sync_detailed(
    client=client, body=CreateProfileBody(username="ada_python", name="Ada Lovelace", followers_count=1815)
)
assert created.status_code == 201 and created.parsed.username == "ada_python", created
page = list_profiles.sync_detailed(client=client, limit=1)
assert page.status_code == 200 and len(page.parsed.data) == 1, page
refused = list_profiles.sync_detailed(client=client, limit=0)
assert refused.status_code == 400, refused
assert refused.parsed.code == "invalid_request", refused.parsed
assert refused.parsed.errors[0].parameter == "limit", refused.parsed
endpoint = create_endpoint.sync_detailed(
    client=client,
    body=CreateEndpointBody.from_dict(
        {"target_url": "https://example.com/python", "event_kinds": ["purchase"], "metadata": {"team": "billing"}}
    ),
)
assert endpoint.status_code == 201, endpoint
shown = get_endpoint.sync_detailed(client=client, id=endpoint.parsed.id)
assert shown.parsed.metadata.additional_properties == {"team": "billing"}, shown
exported = export_records.sync_detailed(client=client, from_="2026-01-01T00:00:00Z")
assert exported.status_code == 200 and isinstance(exported.parsed, str), exported
print("a list of fields, a profile, a page, a 400 as an object, an endpoint with metadata, an export: as expected")
