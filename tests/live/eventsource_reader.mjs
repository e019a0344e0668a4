// Reads the stream at the address in argv with npm `eventsource`, which reconnects by itself, until `stream.end`.
// Writes every event as [type, data].
import { createRequire } from "node:module";

const { EventSource } = createRequire(`${process.cwd()}/`)("eventsource");
const KINDS = [
  "stream.open", "stream.gap", "stream.end", "run.started", "run.ended", "message.opened", "message.delta",
  "message.completed", "message.interrupted",
];
const events = [];
const source = new EventSource(process.argv[2]);
for (const kind of KINDS) {
  source.addEventListener(kind, (event) => {
    events.push([event.type, event.data]);
    if (kind !== "stream.end") return;
    source.close();
    process.stdout.write(JSON.stringify(events));
  });
}
source.onerror = () => {
  if (source.readyState === EventSource.CLOSED) throw new Error("the client gave up");
};
