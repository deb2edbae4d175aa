// SPDX-License-Identifier: Apache-2.0
/**
 * createOperatorAccount creates the operator's service account in a test cluster, with exactly the rights that an
 * installation gives it.
 * Usage: `const kubeconfig = await createOperatorAccount(cluster);`
 */
import { operatorIdentity } from "@switchyard/render";
import type { ControlPlane } from "@switchyard/testing";
import { componentSettings } from "../src/identity-objects.ts";

/** Returns the path of a kubeconfig with a token of the account. Names are the defaults of the operator's flags. */
export async function createOperatorAccount(cluster: ControlPlane): Promise<string> {
  const { operatorServiceAccount: account, namespace } = componentSettings;
  const list = { apiVersion: "v1", kind: "List", items: operatorIdentity(componentSettings) };
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(list) });
  const token = await cluster.kubectl(["create", "token", account, "-n", namespace, "--duration", "24h"]);
  return cluster.clientFor({ token: token.trim() });
}
