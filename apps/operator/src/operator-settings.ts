// SPDX-License-Identifier: Apache-2.0
/** How this operator was started: what its flags and environment say, the same until it ends. */

export interface OperatorSettings {
  /** Ours: our own kinds are honoured here, and what we run is here. */
  readonly namespace: string;
  /** Before the slash of a resource's full name: "openshift.io". */
  readonly resourcePrefix: string;
  readonly clusterType: "kubernetes" | "openshift";
  /** How long the state of a node that left is kept. */
  readonly staleDelayMs: number;
}
