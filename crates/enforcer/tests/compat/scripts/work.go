package main

import (
	"fmt"
	"io"
	"net"
	"os/exec"
)

func main() {
	parts := make(chan int)
	for from := 0; from < 100; from += 25 {
		go func(from int) {
			sum := 0
			for n := from; n < from+25; n++ {
				sum += n
			}
			parts <- sum
		}(from)
	}
	total := 0
	for i := 0; i < 4; i++ {
		total += <-parts
	}
	fmt.Println("goroutines", total)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		peer, _ := listener.Accept()
		fmt.Fprint(peer, "hello")
		peer.Close()
	}()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		panic(err)
	}
	text, _ := io.ReadAll(client)
	fmt.Println("listen", string(text))

	printed, err := exec.Command("echo", "from a child").Output()
	if err != nil {
		panic(err)
	}
	fmt.Print("child ", string(printed))
}
