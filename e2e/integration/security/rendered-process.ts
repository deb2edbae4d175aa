// SPDX-License-Identifier: Apache-2.0
/**
 * Starts a program as its rendered container would be started: with the container's environment variables only, and
 * with the token of the pod's service account.
 */
import { isRecord } from "@switchyard/kube";
import type { Manifest } from "@switchyard/render";
import { findWorkspaceRoot, spawnGuarded } from "@switchyard/testing";
import { join } from "node:path";
import type { DeployedCluster } from "./deployed-cluster.ts";
import { namespace } from "../../src/operator/identity-objects.ts";

/** How the process differs from its container. */
export interface RenderedProcessOptions {
  /** Path relative to the workspace: "apps/webhook/src/main.ts". */
  readonly program: string;
  readonly args?: readonly string[];
  /** The node of the pod. */
  readonly node: string;
  /** Variables that differ from those of the pod, such as addresses and paths. */
  readonly env: Readonly<Record<string, string>>;
}

/** A process. Disposing it kills the process. */
export interface RenderedProcess extends AsyncDisposable {
  /** Resolves with the exit status. */
  readonly exited: Promise<number>;
}

/** Starts the program of a container. `of` is "<name of the DaemonSet>/<name of the container>". */
export async function startRendered(
  deployed: DeployedCluster,
  of: string,
  { program, args = [], node, env }: RenderedProcessOptions,
): Promise<RenderedProcess> {
  const [daemonSet = "", container = ""] = of.split("/");
  const { serviceAccountName, variables } = readPod(deployed.manifests, daemonSet, container, node);
  const KUBECONFIG = await deployed.kubeconfigOf(serviceAccountName, node);
  const all = { ...variables, ...env, KUBECONFIG };
  const assignments = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  const command = ["-i", ...assignments, process.execPath, join(findWorkspaceRoot(), program), ...args];
  const log = join(deployed.cluster.dataDir, `${container}.log`);
  const started = spawnGuarded("/usr/bin/env", command, { log });
  return { exited: started.exited, [Symbol.asyncDispose]: () => started.kill() };
}

function readPod(manifests: readonly Manifest[], daemonSet: string, container: string, node: string) {
  const found = manifests.find(({ kind, metadata }) => kind === "DaemonSet" && metadata.name === daemonSet);
  const pod = at(found, "spec", "template", "spec");
  const containers = ["initContainers", "containers"].flatMap((list) => itemsOf(at(pod, list)));
  const env = itemsOf(
    at(
      containers.find((one) => at(one, "name") === container),
      "env",
    ),
  );
  const fields: Readonly<Record<string, string>> = {
    "metadata.namespace": namespace,
    "spec.nodeName": node,
    "metadata.name": `${daemonSet}-x7k2p`,
  };
  const variables = env.map((variable) => {
    const value = at(variable, "value") ?? fields[textOf(at(variable, "valueFrom", "fieldRef", "fieldPath"))];
    return [textOf(at(variable, "name")), textOf(value)] as const;
  });
  return { serviceAccountName: textOf(at(pod, "serviceAccountName")), variables: Object.fromEntries(variables) };
}

/** Throws TypeError if the value is not a string: the pod then differs from what this test expects. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError("a value of the pod is not a string");
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((found, key) => (isRecord(found) ? found[key] : undefined), value);
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
