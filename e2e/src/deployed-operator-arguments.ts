// SPDX-License-Identifier: Apache-2.0
/**
 * deployedOperatorArguments returns the arguments of an operator that runs as a process with the rights that it has in a
 * cluster.
 * Usage: `spawnKept(await deployedOperatorArguments(cluster), { log, name: "networks-operator" })`
 */
import { findWorkspaceRoot, type ControlPlane } from "@switchyard/testing";
import { join } from "node:path";
import { componentSettings, namespace } from "./identity-objects.ts";

/** The script and its flags: a token of the operator's service account, and no leader election. */
export async function deployedOperatorArguments(cluster: ControlPlane): Promise<readonly string[]> {
  const account = componentSettings.operatorServiceAccount;
  const token = (await cluster.kubectl(["create", "token", account, "-n", namespace])).trim();
  const main = join(findWorkspaceRoot(), "apps/operator/src/main.ts");
  const kubeconfig = await cluster.clientFor({ token });
  return [main, "--kubeconfig", kubeconfig, "--namespace", namespace, "--leader-elect=false"];
}

/** A flag with an image for each component: the operator does not deploy a component without an image. */
export const componentImageFlags: readonly string[] = Object.entries(componentSettings.images).flatMap(
  ([name, image]) => [`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-image`, image ?? ""],
);
