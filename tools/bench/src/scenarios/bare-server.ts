// SPDX-License-Identifier: Apache-2.0
/**
 * The baseline: a server that admits each review without reading it. Its cost is that of HTTPS and JSON in Node, which
 * every webhook in Node has.
 * Arguments: `--tls-cert-file FILE --tls-private-key-file FILE PORT`
 */
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:https";

const [, cert = "", , key = "", port = "0"] = process.argv.slice(2);

/** The part of an AdmissionReview that an answer needs. */
interface Asked {
  readonly request: { readonly uid: string };
}

const server: Server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { request: asked } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Asked;
    const answer = { uid: asked.uid, allowed: true };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: answer }));
  });
});
const health = createHttpServer((_request, response) => response.end("ok"));

server.listen(Number(port), "127.0.0.1", () => {
  health.listen(0, "127.0.0.1", () => {
    const bound = health.address();
    process.stderr.write(`${JSON.stringify({ healthPort: typeof bound === "object" ? bound?.port : 0 })}\n`);
  });
});
process.on("SIGTERM", () => process.exit(0));
