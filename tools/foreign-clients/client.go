// Posts a body that is far too large, as Go's net/http does it: it must get the answer, not a broken pipe.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := strings.Repeat(" ", 4<<20)
	for attempt := 1; attempt <= 20; attempt++ {
		request, err := http.NewRequest("POST", os.Args[1]+"/v18.0/events/purchase", strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			fmt.Println("attempt", attempt, "failed:", err)
			os.Exit(1)
		}
		var problem struct{ Code string }
		if err := json.NewDecoder(response.Body).Decode(&problem); err != nil || problem.Code != "payload_too_large" {
			fmt.Println("attempt", attempt, "got", response.StatusCode, problem.Code, err)
			os.Exit(1)
		}
		response.Body.Close()
	}
	fmt.Println("20 bodies of 4 MiB: 413 payload_too_large each time")
}
