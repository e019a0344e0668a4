// Reads {"streams": [[base64 chunk, ...], ...]} from stdin; writes what two npm decoders make of each stream.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(`${process.cwd()}/`);
const { createParser } = require("eventsource-parser");
const { getLines, getMessages } = require("@microsoft/fetch-event-source/lib/cjs/parse.js");

function eventsourceParser(chunks) {
  const events = [];
  const parser = createParser({ onEvent: (e) => events.push([e.event ?? "message", e.data, e.id ?? null]) });
  const text = new TextDecoder();
  for (const chunk of chunks) parser.feed(text.decode(chunk, { stream: true }));
  return { events };
}

function fetchEventSource(chunks) {
  const events = [], ids = [];
  let retry = null;
  const lines = getLines(
    getMessages((id) => ids.push(id), (value) => (retry = value), (e) => events.push([e.event || "message", e.data, e.id])),
  );
  for (const chunk of chunks) lines(chunk);
  return { events, ids, retry };
}

const { streams } = JSON.parse(readFileSync(0, "utf8"));
const answers = streams.map((stream) => {
  const chunks = stream.map((chunk) => new Uint8Array(Buffer.from(chunk, "base64")));
  return { eventsourceParser: eventsourceParser(chunks), fetchEventSource: fetchEventSource(chunks) };
});
process.stdout.write(JSON.stringify(answers));
