// Uses the client that oapi-codegen has generated: lists as parameters, bodies, maps, errors as objects, text.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"hookline/tools/foreign-clients/generated/go/hookline"
)

func expect(fine bool, err error, got any) {
	if err != nil {
		log.Fatal(err)
	}
	if !fine {
		log.Fatalf("not as expected: %+v", got)
	}
}

func main() {
	ctx := context.Background()
	withToken := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	client, err := hookline.NewClientWithResponses(os.Getenv("HOOKLINE_URL"), hookline.WithRequestEditorFn(withToken))
	expect(client != nil, err, client)

	me, err := client.GetMeWithResponse(ctx, &hookline.GetMeParams{
		Fields: &[]hookline.GetMeParamsFields{"id", "followers_count"},
	})
	expect(err == nil && me.JSON200 != nil && *me.JSON200.FollowersCount == 0, err, me)

	followers := 1815
	created, err := client.CreateProfileWithResponse(ctx, &hookline.CreateProfileParams{}, hookline.CreateProfileBody{
		Username: "ada_go", Name: "Ada Lovelace", FollowersCount: &followers,
	})
	expect(err == nil && created.JSON201 != nil && created.JSON201.Username == "ada_go", err, created)

	limit := 1
	page, err := client.ListProfilesWithResponse(ctx, &hookline.ListProfilesParams{Limit: &limit})
	expect(err == nil && page.JSON200 != nil && len(page.JSON200.Data) == 1, err, page)

	limit = 0
	refused, err := client.ListProfilesWithResponse(ctx, &hookline.ListProfilesParams{Limit: &limit})
	expect(err == nil && refused.ApplicationproblemJSON400 != nil, err, refused)
	problem := *refused.ApplicationproblemJSON400
	expect(problem.Code == "invalid_request" && *(*problem.Errors)[0].Parameter == "limit", nil, problem)

	metadata := map[string]string{"team": "billing"}
	endpoint, err := client.CreateEndpointWithResponse(ctx, &hookline.CreateEndpointParams{}, hookline.CreateEndpointBody{
		TargetUrl: "https://example.com/go", EventKinds: []string{"purchase"}, Metadata: &metadata,
	})
	expect(err == nil && endpoint.JSON201 != nil, err, endpoint)
	shown, err := client.GetEndpointWithResponse(ctx, endpoint.JSON201.Id, &hookline.GetEndpointParams{})
	expect(err == nil && shown.JSON200 != nil && shown.JSON200.Metadata["team"] == "billing", err, shown)

	from := "2026-01-01T00:00:00Z"
	exported, err := client.ExportRecordsWithResponse(ctx, &hookline.ExportRecordsParams{From: &from})
	expect(err == nil && exported.StatusCode() == 200, err, exported)
	fmt.Println("a list of fields, a profile, a page, a 400 as an object, an endpoint with metadata, an export: as expected")
}
