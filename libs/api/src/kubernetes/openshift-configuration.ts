// SPDX-License-Identifier: Apache-2.0
/** API resources of OpenShift's own configuration: the placement of DNS, and the version of the cluster. */
import type { ResourceType } from "./metadata.ts";

/** DNS of group operator.openshift.io; the only one is named "default". */
export const dnses = {
  group: "operator.openshift.io",
  version: "v1",
  kind: "DNS",
  plural: "dnses",
  namespaced: false,
} as const satisfies ResourceType;

/** The only ClusterVersion is named "version". */
export const clusterVersions = {
  group: "config.openshift.io",
  version: "v1",
  kind: "ClusterVersion",
  plural: "clusterversions",
  namespaced: false,
} as const satisfies ResourceType;
