package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
)

func fetch(client *http.Client, url string) {
	response, err := client.Get(url)
	if err != nil {
		fmt.Println("no webhook")
		return
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	fmt.Print(string(body))
}

func main() {
	fetch(http.DefaultClient, "http://api.weather.test/")
	// Its own resolver, which reads resolv.conf and sends the packets itself.
	dialer := &net.Dialer{Resolver: &net.Resolver{PreferGo: true}}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}}
	fetch(&http.Client{Transport: transport}, "http://api.weather.test/")
	fetch(&http.Client{Transport: transport}, "http://webhook.test/")
}
