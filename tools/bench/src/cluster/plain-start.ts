// SPDX-License-Identifier: Apache-2.0
/**
 * The plain client as a program, the baseline for the start of a program. It lists the nodes and sends requests.
 * Its argument is a file that has a PlainStart as JSON.
 */
import { nodes as nodeType } from "@switchyard/api";
import { collectionPath } from "@switchyard/kube";
import { readFileSync } from "node:fs";
import { createPlainClient, sendAll, type Identity, type PlainRequest } from "./plain-client.ts";

export interface PlainStart {
  readonly identity: Identity;
  readonly connections: number;
  /** Those of one group are sent one after the other. */
  readonly groups: readonly (readonly PlainRequest[])[];
}

const { identity, connections, groups } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as PlainStart;
using client = createPlainClient(identity, connections);
await client.list(collectionPath(nodeType));
await sendAll(client, groups, { connections });
