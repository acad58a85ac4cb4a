import java.net.Socket;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

class Fetch {
    public static void main(String[] arguments) throws Exception {
        var uri = URI.create("http://api.weather.test/");
        // It asks for HTTP/2 by an upgrade unless told not to.
        var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        var request = HttpRequest.newBuilder(uri).build();
        System.out.print("new " + client.send(request, HttpResponse.BodyHandlers.ofString()).body());
        System.out.print("old " + new String(uri.toURL().openStream().readAllBytes()));
        try (var socket = new Socket("api.weather.test", 80)) {
            System.out.println("socket " + socket.isConnected());
        }
        try {
            var other = HttpRequest.newBuilder(URI.create("http://webhook.test/")).build();
            client.send(other, HttpResponse.BodyHandlers.ofString());
            System.out.println("webhook reached");
        } catch (java.io.IOException error) {
            System.out.println("webhook " + error.getClass().getName());
        }
    }
}
