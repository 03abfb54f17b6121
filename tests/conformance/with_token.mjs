// Passes the suite's requests on to an endpoint, with its token, which the suite cannot send.
//
// Prints its own port, then reads the endpoint's port and token in one line. Ends with its input.
import http from "node:http";
import readline from "node:readline";

let port, token;

const server = http.createServer((request, response) => {
  const headers = [...request.rawHeaders, "Authorization", `Bearer ${token}`];
  const { method, url: path } = request;
  // `Host` and `Origin` stay as they came: the endpoint checks them.
  const options = { host: "127.0.0.1", port, method, path, headers, setHost: false, agent: false };
  const onward = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders);
    response.flushHeaders();
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
});

const input = readline.createInterface({ input: process.stdin });
input.once("line", (line) => ([port, token] = line.split(" ")));
input.once("close", () => process.exit());
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
