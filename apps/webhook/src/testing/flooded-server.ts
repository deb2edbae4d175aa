// SPDX-License-Identifier: Apache-2.0
/**
 * A process with a review server for tests that flood it, so that its memory and its CPU time are its own. Reviews of policies take
 * long: there are many nodes and policies. It prints its port and its CA as JSON and runs until its standard input ends.
 */
import { createStateReader, emptyView } from "@switchyard/admission";
import { namespace, startTestServer } from "./review-client.ts";

const read = createStateReader();

/** The same for each node. */
const interfaces = Array.from({ length: 6 }, (_, pf) => {
  const pciAddress = `0000:3b:0${pf}.0`;
  return { pciAddress, name: `ens${pf}f0`, vendor: "8086", deviceID: "158b", totalvfs: 64 };
});

const nodes = Array.from({ length: 150 }, (_, index) => ({
  name: `worker-${index}`,
  labels: { worker: "", number: `${index}` },
  state: read({ status: { interfaces } }),
}));

await using server = await startTestServer({ view: () => ({ ...emptyView(namespace), nodes }) });
process.stdout.write(`${JSON.stringify({ port: server.server.port, ca: server.pair.ca })}\n`);
for await (const _ of process.stdin);
