// SPDX-License-Identifier: Apache-2.0
/**
 * The plain client as a program, the baseline for the operator's start. It lists the nodes and writes a node state for
 * each. SPEC is JSON.
 * Usage: `node plain-start.mjs KUBECONFIG CONNECTIONS SPEC`
 */
import { nodes as nodeType, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import { collectionPath, isRecord } from "@switchyard/kube";
import { BenchError } from "../harness/run-control.ts";
import { createPlainClient, readIdentity } from "../harness/plain-client.ts";
import { writePlainStates } from "./fleet-objects.ts";

const [kubeconfig = "", connections = "", specText = ""] = process.argv.slice(2);
const spec = JSON.parse(specText) as SriovNetworkNodeStateSpec;
using client = createPlainClient(await readIdentity(kubeconfig), Number(connections));
const list: unknown = JSON.parse(await client.request({ method: "GET", path: collectionPath(nodeType) }));
if (!isRecord(list) || !Array.isArray(list["items"]))
  throw new BenchError("refused", "the answer is not a list of nodes");
await writePlainStates(client, { spec, nodes: list["items"].length, connections: Number(connections) });
