// SPDX-License-Identifier: Apache-2.0
/**
 * The plain client as a program, the baseline for the operator's start. It lists the nodes and writes a node state for
 * each. SPEC is JSON.
 * Usage: `node plain-start.mjs KUBECONFIG CONNECTIONS SPEC`
 */
import { nodes as nodeType, sriovNetworkNodeStates } from "@switchyard/api";
import { collectionPath, isRecord } from "@switchyard/kube";
import { createPlainClient, readIdentity } from "../cluster/plain-client.ts";
import { idleAnnotations, writePlainStates } from "../cluster/simulated-fleet.ts";
import { BenchError } from "../harness/run.ts";

const [kubeconfig = "", connections = "", specText = ""] = process.argv.slice(2);
const spec = JSON.parse(specText) as object;
using client = createPlainClient(await readIdentity(kubeconfig), Number(connections));
const list = await client.get(collectionPath(nodeType));
if (!isRecord(list) || !Array.isArray(list["items"]))
  throw new BenchError("refused", "the answer is not a list of nodes");
const kind = { type: sriovNetworkNodeStates, owner: "SriovOperatorConfig", annotations: idleAnnotations };
await writePlainStates(client, kind, { spec, nodes: list["items"].length, connections: Number(connections) });
