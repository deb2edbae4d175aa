// SPDX-License-Identifier: Apache-2.0
/** What becomes of the parts that the operator deploys. */
import type { Manifest } from "./objects/manifest.ts";

/** A part that is deployed, or removed, as a whole. */
export type ComponentName = (typeof componentNames)[number];

/** In the order in which they are to be applied: what bounds a process comes before it. */
export const componentNames = [
  "node-identity",
  "operator-webhook",
  "network-resources-injector",
  "config-daemon",
  "device-plugin",
  "metrics-exporter",
] as const;

export interface RenderedComponents {
  /** One for each name of componentNames, in that order. */
  readonly components: readonly RenderedComponent[];
  readonly problems: readonly ComponentProblem[];
}

export interface RenderedComponent {
  readonly name: ComponentName;
  /**
   * "deployed": its objects are to be there, and of its inventory nothing else. "disabled": nothing of its inventory is to
   * be there. "failed": it has a problem of severity "error"; what is there stays as it is.
   */
  readonly state: "deployed" | "disabled" | "failed";
  /** In the order in which they are to be applied. Empty unless "deployed". */
  readonly objects: readonly Manifest[];
}

export interface ComponentProblem {
  readonly component: ComponentName;
  /** A warning stops nothing. */
  readonly severity: "error" | "warning";
  /** Field of the SriovOperatorConfig, "spec.featureGates.x", or a variable of the operator's environment. */
  readonly field: string;
  /** What is wrong with it, a sentence without the field and without a full stop. */
  readonly message: string;
}
