// SPDX-License-Identifier: Apache-2.0
/**
 * The operator's service account in a test cluster, with the rights that the chart gives it and no others.
 * Usage: `const kubeconfig = await createOperatorAccount(cluster, flags);`
 */
import { operatorFlags } from "@switchyard/operator/operator-flags";
import { readOperatorSettings } from "@switchyard/operator/operator-settings";
import { operatorIdentity } from "@switchyard/render";
import { commonFlags, parseFlags } from "@switchyard/service";
import type { ControlPlane } from "@switchyard/testing";
import { namespace } from "./life.ts";

/** A kubeconfig with a token of the account. `flags` are those that the operator is started with. */
export async function createOperatorAccount(cluster: ControlPlane, flags: readonly string[]): Promise<string> {
  const parsed = parseFlags({ ...commonFlags, ...operatorFlags }, flags, { NAMESPACE: namespace });
  if (parsed.asked !== "run") throw new RangeError(`the operator does not take ${flags.join(" ")}`);
  const { components } = readOperatorSettings(parsed.values);
  const list = { apiVersion: "v1", kind: "List", items: operatorIdentity(components) };
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(list) });
  const account = components.operatorServiceAccount;
  const token = await cluster.kubectl(["create", "token", account, "-n", namespace, "--duration", "24h"]);
  return cluster.clientFor({ token: token.trim() });
}
