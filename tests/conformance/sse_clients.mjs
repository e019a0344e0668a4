// Reads {"client", "answers"} from stdin and runs a real npm client against a loopback server that gives the
// n-th request the n-th answer: {status, type, chunks: [base64], then: "end" | "reset" | "hide-show"}.
// Writes the requests, the events, and whether the client settled.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(`${process.cwd()}/`);
const { EventSource } = require("eventsource");
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const STEP_MS = 15; // long enough for bytes to arrive before the next thing happens
const QUIET_MS = 300; // nothing more happens after this long without a request

async function run({ client, answers }) {
  const requests = [], events = [];
  let settled = false, last = Date.now();
  const page = new EventTarget();
  page.hidden = false;
  const show = (visible) => {
    page.hidden = !visible;
    page.dispatchEvent(new Event("visibilitychange"));
  };

  const server = createServer(async (request, response) => {
    const answer = answers[requests.length];
    requests.push([request.method, request.headers["last-event-id"] ?? null]);
    last = Date.now();
    if (!answer) return; // hangs: the script is over
    response.writeHead(answer.status, answer.type ? { "content-type": answer.type } : {});
    response.flushHeaders();
    for (const chunk of answer.chunks) {
      await pause(STEP_MS);
      response.write(Buffer.from(chunk, "base64"));
    }
    await pause(STEP_MS);
    last = Date.now();
    if (answer.then === "end") response.end();
    else if (answer.then === "reset") response.socket.destroy();
    else {
      show(false);
      await pause(STEP_MS);
      show(true);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;

  let stop;
  if (client === "eventsource") {
    const source = new EventSource(url);
    const note = (e) => events.push([e.type, e.data]);
    for (const type of ["message", "named"]) source.addEventListener(type, note);
    source.onerror = () => (settled = source.readyState === source.CLOSED);
    stop = () => source.close();
  } else {
    globalThis.document = page;
    globalThis.window = globalThis;
    const { fetchEventSource } = require("@microsoft/fetch-event-source");
    const abort = new AbortController();
    const onmessage = (e) => events.push([e.event || "message", e.data]);
    fetchEventSource(url, { method: "POST", body: "{}", signal: abort.signal, onmessage }).then(() => (settled = true));
    stop = () => abort.abort();
  }

  while (!requests.length || Date.now() - last < QUIET_MS) await pause(STEP_MS);
  const result = { requests: [...requests], events: [...events], settled };
  stop();
  server.closeAllConnections();
  server.close();
  return result;
}

const results = [];
for (const script of JSON.parse(readFileSync(0, "utf8")).scripts) results.push(await run(script));
process.stdout.write(JSON.stringify(results));
process.exit(0);
