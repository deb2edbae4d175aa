// SPDX-License-Identifier: Apache-2.0
/** RenderedComponents is the result of renderComponents: the state and the objects of each component. */
import type { AfxdpProvider } from "@switchyard/api";
import type { Manifest } from "./objects/kube-objects.ts";

/** Name of a component, which is deployed or removed as a whole. */
export type ComponentName = (typeof componentNames)[number];

/**
 * All components in the order in which they must be applied: admission policies that limit a process come before the
 * process.
 */
export const componentNames = [
  "node-identity",
  "operator-webhook",
  "network-resources-injector",
  "config-daemon",
  "device-plugin",
  "dra-driver",
  "afxdp-device-plugin",
  "afxdp-plugins",
  "metrics-exporter",
] as const;

/**
 * The component that offers AF_XDP devices to pods, for each provider. The AfxdpOperatorConfig reports about these components, whether
 * there is a SriovOperatorConfig or not.
 */
export const afxdpComponents = {
  switchyard: "afxdp-device-plugin",
  upstream: "afxdp-plugins",
} as const satisfies Readonly<Record<AfxdpProvider, ComponentName>>;

/** All components with their problems. */
export interface RenderedComponents {
  /** One entry for each name in componentNames, in that order. */
  readonly components: readonly RenderedComponent[];
  readonly problems: readonly ComponentProblem[];
}

/** One component. */
export interface RenderedComponent {
  readonly name: ComponentName;
  /**
   * "deployed": of its inventory, exactly `objects` must exist. "disabled": no object of its inventory must exist.
   * "failed": it has a problem of severity "error"; existing objects are left unchanged.
   */
  readonly state: "deployed" | "disabled" | "failed";
  /** Objects in the order in which they must be applied. Empty unless the state is "deployed". */
  readonly objects: readonly Manifest[];
}

/** A problem of a component. */
export interface ComponentProblem {
  readonly component: ComponentName;
  /** A component with a warning is deployed, one with an error is not. */
  readonly severity: "error" | "warning";
  /** Path of a field of the SriovOperatorConfig, or name of an environment variable of the operator. */
  readonly field: string;
  /** What is wrong. Does not name the field, which callers put before it, and has no full stop. */
  readonly message: string;
}
