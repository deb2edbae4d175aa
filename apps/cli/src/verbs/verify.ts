// SPDX-License-Identifier: Apache-2.0
/** `switchyard verify` checks a network with short-lived pods on the nodes of a cluster, and removes them. */
import { connect, isKubeError, systemClock } from "@switchyard/kube";
import { randomBytes } from "node:crypto";
import { listVfs } from "../diagnosis/list-vfs.ts";
import type { Snapshot } from "../diagnosis/snapshot.ts";
import type { Flags } from "../flags.ts";
import { withCurrentContext } from "../input/current-context.ts";
import { kubeconfigOf } from "../input/read-cluster.ts";
import { isLive } from "../input/read-input.ts";
import { printData } from "../output/to-yaml.ts";
import { CliError, textStyleOf, createDiagnostics, exitCodes, type Diagnostics, type Terminal } from "../terminal.ts";
import type { RunVerb } from "../verb.ts";
import { daemonImage } from "../verify/node-facts.ts";
import { createPodClient, type PodClient } from "../verify/pod-client.ts";
import { removeEnded } from "../verify/run-pods.ts";
import { verifyNetwork, type Verification } from "../verify/verify-network.ts";
import { findTargets, type VerifyTarget } from "../verify/verify-target.ts";
import { verifyText } from "../verify/verify-text.ts";
import { readExaminedCluster } from "./examined-cluster.ts";

/** Duration of each TCP stream. */
const throughputSeconds = 5;

export const verify: RunVerb = async ({ flags: given, terminal }) => {
  const diagnostics = createDiagnostics(terminal.stderr);
  const named = await withCurrentContext(given, terminal, diagnostics);
  if (!isLive(named)) throw new CliError("usage", "verify needs a cluster: --context NAME or --kubeconfig FILE");
  const timeoutMs = secondsIn(named.timeout) * 1000;
  const { snapshot, flags } = await readExaminedCluster(named, terminal, diagnostics);
  const targets = findTargets(snapshot, flags);
  const image = flags.image ?? daemonImage(snapshot);
  if (image === undefined) {
    const words =
      "the DaemonSet sriov-network-config-daemon, whose image the pods use, cannot be read: use --image IMAGE";
    throw new CliError("unavailable", words);
  }

  const interrupt = new AbortController();
  const stop = (): void => {
    diagnostics.note("interrupted; removing the pods");
    interrupt.abort(new CliError("unavailable", "interrupted: the pods were removed"));
  };
  // A second signal ends the process at once.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  try {
    const { context } = flags;
    await using transport = await connect({
      kubeconfig: kubeconfigOf({ ...flags, env: terminal.env }),
      context,
      env: terminal.env,
      usesProxyVariables: true,
    });
    const client = createPodClient(transport, snapshot.namespace);
    await removeLeftovers(client, { targets, diagnostics });
    const verifications: Verification[] = [];
    for (const target of targets) {
      verifications.push(
        await verifyNetwork(snapshot, target, {
          client,
          image,
          timeoutMs,
          throughputSeconds: flags.throughput ? throughputSeconds : 0,
          signal: interrupt.signal,
          clock: systemClock,
          nodes: flags.nodes,
          nextRun: () => randomBytes(4).toString("hex"),
          note: (text) => {
            diagnostics.note(text);
          },
        }),
      );
    }
    await print(verifications, { snapshot, flags, terminal });
    const checks = verifications.flatMap((verification) => verification.checks);
    const isGood = checks.some(({ status }) => status === "ok") && checks.every(({ status }) => status !== "failed");
    return isGood ? diagnostics.exitCode() : exitCodes.no;
  } catch (cause) {
    if (!isKubeError(cause)) throw cause;
    throw new CliError("unavailable", cause.message, { cause });
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  }
};

async function removeLeftovers(
  client: PodClient,
  { targets, diagnostics }: { readonly targets: readonly VerifyTarget[]; readonly diagnostics: Diagnostics },
): Promise<void> {
  const networks = targets.flatMap(({ network, other }) => [network, ...(other === undefined ? [] : [other.network])]);
  const removed = await removeEnded(client, [...new Set(networks.map(({ namespace }) => namespace))]);
  if (removed > 0) {
    diagnostics.note(removed === 1 ? "removed 1 pod of an earlier run" : `removed ${removed} pods of earlier runs`);
  }
}

interface PrintContext {
  readonly snapshot: Snapshot;
  readonly flags: Flags;
  readonly terminal: Terminal;
}

async function print(
  verifications: readonly Verification[],
  { snapshot, flags, terminal }: PrintContext,
): Promise<void> {
  const { pageOutput: output = "text" } = flags;
  if (output === "text") {
    terminal.stdout.write(verifyText(verifications, textStyleOf(terminal.stdout, terminal.env)));
  } else if (output === "html") {
    const { makePage } = await import("../report/build-report.ts");
    const rows = listVfs(snapshot);
    terminal.stdout.write(makePage(snapshot, { command: "verify", rows, verifications }));
  } else {
    printData({ verifications }, output, terminal.stdout);
  }
}

function secondsIn(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,5}$/.test(text) || seconds === 0) {
    throw new CliError("usage", `--timeout must be a number of seconds from 1 to 99999, not "${text}"`);
  }
  return seconds;
}
