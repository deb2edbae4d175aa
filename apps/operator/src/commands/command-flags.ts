// SPDX-License-Identifier: Apache-2.0
/** Flags that several commands of the operator's program have. They have the names and variables of the service's flags. */
import { commonFlags, flag, integer } from "@switchyard/service";

const { kubeconfig, namespace } = commonFlags;

/** The connection to the cluster, as the service has it. */
export const connectionFlags = { kubeconfig };

/** The same with the operator's namespace. */
export const namespacedFlags = { kubeconfig, namespace };

/** A time limit in seconds. */
export function timeoutFlag(seconds: number, help: string, env = "TIMEOUT_SECONDS") {
  return flag(integer({ minimum: 1, maximum: 3600 }), { default: `${seconds}`, env, help });
}
