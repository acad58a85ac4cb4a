import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class Work {
    public static void main(String[] arguments) throws Exception {
        var pool = Executors.newFixedThreadPool(4);
        var parts = new ArrayList<Future<Integer>>();
        for (int from = 0; from < 100; from += 25) {
            int start = from;
            parts.add(pool.submit(() -> {
                int sum = 0;
                for (int n = start; n < start + 25; n++) sum += n;
                return sum;
            }));
        }
        int total = 0;
        for (var part : parts) total += part.get();
        pool.shutdown();
        System.out.println("threads " + total);

        var file = Files.createTempFile("work", ".txt");
        Files.writeString(file, "text");
        System.out.println("file " + Files.readString(file));

        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = "hello".getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        var address = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
        var client = HttpClient.newHttpClient();
        var answer = client.send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
        System.out.println("server " + answer.body());
        server.stop(0);

        var process = new ProcessBuilder("sh", "-c", "echo from a child").start();
        System.out.println("process " + new String(process.getInputStream().readAllBytes()).strip());
        process.waitFor();

        long free = Runtime.getRuntime().freeMemory();
        System.gc();
        System.out.println("virtual machine " + (free > 0 && Path.of("/proc/self").toRealPath() != null ? "ok" : "odd"));
        System.exit(0);
    }
}
