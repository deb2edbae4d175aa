// SPDX-License-Identifier: Apache-2.0
/** OvnOffloadIdentitySettings are what the rights of ovn-offload depend on. */

/** Settings of the chart. */
export interface OvnOffloadIdentitySettings {
  /** Namespace of the operator and of ovn-offload. */
  readonly namespace: string;
  /** Name of the service account, and beginning of the names of all other objects. */
  readonly serviceAccount: string;
  readonly clusterType: "kubernetes" | "openshift";
  /** Namespace of OVN-Kubernetes in clusters other than OpenShift. */
  readonly ovnNamespace: string;
  /** Key of the label that the key dpu-host-mode-label of hardware-offload-config names; the default is always allowed. */
  readonly hostLabel: string;
}
