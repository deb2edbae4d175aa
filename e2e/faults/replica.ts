// SPDX-License-Identifier: Apache-2.0
/**
 * startReplica starts one replica of the operator. It connects to the API server over a link that can be cut and a
 * proxy that injects faults.
 */
import { mkdir } from "node:fs/promises";
import { FaultProxy } from "../src/api/fault-proxy.ts";
import type { FaultRules } from "../src/api/fault-rules.ts";
import { OperatorProcess } from "../src/operator/operator-process.ts";
import { SeverableLink } from "../src/api/severable-link.ts";
import { namespace } from "./scenarios/scenario.ts";

export interface Replica extends AsyncDisposable {
  readonly operator: OperatorProcess;
  readonly proxy: FaultProxy;
  readonly link: SeverableLink;
}

export interface ReplicaOptions {
  /** Path of the operator's program. */
  readonly main: string;
  readonly flags: readonly string[];
  /** Path of a kubeconfig with the operator's rights. */
  readonly kubeconfig: string;
  readonly rules: FaultRules;
  /** A directory for this replica, which is created. */
  readonly directory: string;
}

export async function startReplica(options: ReplicaOptions): Promise<Replica> {
  const { main, flags, kubeconfig, rules, directory } = options;
  await using started = new AsyncDisposableStack();
  await mkdir(directory, { recursive: true });
  const proxy = started.use(await FaultProxy.before(kubeconfig, rules));
  const link = started.use(await SeverableLink.to(proxy.url));
  const operator = started.use(await OperatorProcess.start({ main, server: link.url, namespace, directory, flags }));
  const running = started.move();
  return { operator, proxy, link, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
