// SPDX-License-Identifier: Apache-2.0
/**
 * findingCatalogue has the texts of all findings that are not reasons of conditions. docs/reference/findings.md is generated
 * from it, and `switchyard explain CODE` prints it.
 */

/** error: something does not work. warning: something may stop working. info: something is in progress. */
export type Severity = "error" | "warning" | "info";

/** The texts of a finding. */
export interface CatalogueEntry {
  readonly severity: Severity;
  /** Why this happens. */
  readonly cause: string;
  /** The next command. {name} and {namespace} are those of the object. */
  readonly next: string;
}

const describeState = "kubectl -n {namespace} describe sriovnetworknodestate {name}";
const daemonLog = "kubectl -n {operatorNamespace} logs {daemonPod} --tail 100";
const explainPolicy = "kubectl -n {namespace} get sriovnetworknodepolicy {name} -o yaml";

export const findingCatalogue = {
  NodeSyncFailed: {
    severity: "error",
    cause: "The config daemon could not configure the node. status.lastSyncError has the error.",
    next: describeState,
  },
  NodeInProgressTooLong: {
    severity: "warning",
    cause:
      "The config daemon of the Go operator never reports Failed: while a step fails, it retries and stays InProgress. The log of the daemon has the error.",
    next: daemonLog,
  },
  NodeNeverReported: {
    severity: "error",
    cause: "The config daemon of the node has not reported once: it does not run, or it cannot reach the API server.",
    next: "kubectl -n {namespace} get pods -o wide --field-selector spec.nodeName={name}",
  },
  NodeStateMissing: {
    severity: "error",
    cause:
      "The operator creates a SriovNetworkNodeState for each node of the node set. The operator does not run, or its log has the error.",
    next: "kubectl -n {operatorNamespace} logs -l name=sriov-network-operator --tail 100",
  },
  NodeStateWithoutNode: {
    severity: "warning",
    cause: "The node was deleted or left the node set. The operator deletes its state after a delay.",
    next: describeState,
  },
  NodeNotConfiguredSinceBoot: {
    severity: "warning",
    cause:
      "The node has booted, and the config daemon has not configured it since then. Until it does, VFs can lack their addresses, and pods with VFs wait.",
    next: daemonLog,
  },
  NodeLeftCordoned: {
    severity: "warning",
    cause:
      "The operator cordoned the node for a drain that has ended, and did not uncordon it: it does not run, or it may not write the node.",
    next: "kubectl get node {name} -o yaml",
  },
  KubernetesTooOld: {
    severity: "error",
    cause: "Switchyard requires Kubernetes 1.30 or later.",
    next: "kubectl get node {name} -o wide",
  },
  DrainWaits: {
    severity: "info",
    cause:
      "The config daemon has requested a drain, and the operator has not started it: other nodes are being drained, or the operator does not run.",
    next: "kubectl -n {namespace} get sriovnetworknodestates",
  },
  DrainTakesLong: {
    severity: "warning",
    cause:
      "Pods do not leave the node: a PodDisruptionBudget refuses their eviction, they end slowly, or a finalizer holds them.",
    next: "kubectl get pods -A -o wide --field-selector spec.nodeName={name}",
  },
  DisruptionBudgetBlocksDrain: {
    severity: "error",
    cause:
      "The API server refuses the eviction while the PodDisruptionBudget allows no disruption: too few of its pods are healthy, or it allows none at all.",
    next: "kubectl -n {namespace} describe poddisruptionbudget {name}",
  },
  DaemonPodNotRunning: {
    severity: "error",
    cause: "Without a running config daemon, the node is neither configured nor repaired.",
    next: "kubectl -n {operatorNamespace} describe pods -l app=sriov-network-config-daemon",
  },
  DevicePluginStale: {
    severity: "warning",
    cause:
      "The device plugin read its configuration before the VFs existed, or it does not run. Pods get only the devices that the node offers.",
    next: "kubectl -n {operatorNamespace} delete pod -l app=sriov-device-plugin --field-selector spec.nodeName={name}",
  },
  EqualVfMacs: {
    severity: "warning",
    cause:
      "VFs of one PF or of several nodes have one MAC address: a network with a fixed address, or cloned machines with one machine-id. Their pods lose packets.",
    next: "kubectl get nodes -o custom-columns=NAME:.metadata.name,MACHINE-ID:.status.nodeInfo.machineID",
  },
  VfsWithoutPolicy: {
    severity: "warning",
    cause:
      "VFs remain of a policy that was deleted, or another program created them. The Go operator forgets the PFs that it configured when its daemon restarts.",
    next: "switchyard vfs --node {name}",
  },
  PolicyOutsideOperatorNamespace: {
    severity: "error",
    cause:
      "The operator uses policies, pools and configurations of its own namespace only. Create the object there, and delete this one, which has no effect.",
    next: "kubectl -n {namespace} get {resource} {name} -o yaml",
  },
  ObjectRefused: {
    severity: "error",
    cause:
      "The object violates a rule of its CustomResourceDefinition: the API server refuses it as a new object, and its fields are not evaluated here.",
    next: "switchyard explain {resource}",
  },
  NodeSetEmpty: {
    severity: "error",
    cause:
      "No node has all labels of spec.configDaemonNodeSelector, so no config daemon runs and no policy has an effect.",
    next: "kubectl get nodes --show-labels",
  },
  NodeSelectorMatchesNothing: {
    severity: "warning",
    cause: "No node that runs the config daemon has all labels of spec.nodeSelector.",
    next: "kubectl get nodes --show-labels",
  },
  NicSelectorMatchesNothing: {
    severity: "warning",
    cause:
      "No PF of the selected nodes has all properties of spec.nicSelector. Names can change with the kernel or with the slot of the card.",
    next: explainPolicy,
  },
  NicSelectorEntryMatchesNothing: {
    severity: "warning",
    cause:
      "An entry of pfNames or rootDevices matches no PF of the selected nodes, while others do: the policy gives fewer VFs than its author may want.",
    next: explainPolicy,
  },
  PolicyProblem: {
    severity: "error",
    cause: "The operator cannot apply the policy to a node, or a part of it has no effect there.",
    next: explainPolicy,
  },
  OperatorConfigMissing: {
    severity: "error",
    cause: 'Without the SriovOperatorConfig "default" in its namespace, the operator manages no node.',
    next: "kubectl -n {namespace} get sriovoperatorconfigs",
  },
  PoolProblem: {
    severity: "error",
    cause: "The operator cannot apply the pool, or two pools select the same node.",
    next: "kubectl -n {namespace} get sriovnetworkpoolconfig {name} -o yaml",
  },
  PoolAllowsNoDrain: {
    severity: "warning",
    cause:
      "spec.maxUnavailable is 0, so no node of the pool is drained. Changes that disrupt pods wait until it is raised.",
    next: "kubectl -n {namespace} edit sriovnetworkpoolconfig {name}",
  },
  OffloadServiceMissing: {
    severity: "warning",
    cause:
      "The service ovn-offload has not reported about spec.ovnHardwareOffload, so nothing happens. The chart deploys it only with ovnOffload.enabled=true.",
    next: "kubectl -n {namespace} get deployments",
  },
  OffloadHostNotReady: {
    severity: "warning",
    cause: "OVN of the host does not run on its SmartNIC yet. The message is the first thing that the host lacks.",
    next: "kubectl -n {namespace} get sriovoperatorconfig default -o yaml",
  },
  OffloadPodsWaiting: {
    severity: "warning",
    cause:
      "Pods on hosts whose OVN runs on a SmartNIC need the annotation v1.multus-cni.io/default-network with a network that has a VF.",
    next: "kubectl -n {namespace} get sriovoperatorconfig {name} -o yaml",
  },
  NetworkResourceUnknown: {
    severity: "warning",
    cause: "No policy defines the resource of the network. Pods of the network stay Pending.",
    next: "kubectl -n {operatorNamespace} get sriovnetworknodepolicies -o custom-columns=NAME:.metadata.name,RESOURCE:.spec.resourceName",
  },
  NetworkDefinitionMissing: {
    severity: "error",
    cause:
      "The operator did not create the NetworkAttachmentDefinition: the network is invalid, its namespace does not exist, or the operator does not run.",
    next: "kubectl -n {namespace} get events --field-selector involvedObject.name={name}",
  },
  ResourceOnNoNode: {
    severity: "error",
    cause:
      "No node offers the resource that the pod requests. The name is misspelt, no policy defines it, or the device plugin does not run.",
    next: "kubectl get nodes -o custom-columns=NAME:.metadata.name,ALLOCATABLE:.status.allocatable",
  },
  ResourceExhausted: {
    severity: "error",
    cause: "Each node that offers the resource has fewer free devices than the pod requests.",
    next: "switchyard vfs --resource {resource}",
  },
  DeviceClassMissing: {
    severity: "error",
    cause:
      "The claim names a DeviceClass that does not exist. The operator keeps one for each resource while a node gives VFs to ResourceClaims.",
    next: "kubectl get deviceclasses",
  },
  ClaimOnNoNode: {
    severity: "error",
    cause:
      "No node publishes VFs of the class: no policy has its resource, no pool chooses ResourceClaims for the nodes, or dra-driver does not run there.",
    next: "kubectl -n {operatorNamespace} get pods -o wide -l app=sriov-dra-driver",
  },
  ClaimSelectorMatchesNothing: {
    severity: "error",
    cause: "VFs of the class exist, and none has all attributes that the selectors of the claim ask for.",
    next: "kubectl get resourceslices -o yaml",
  },
  ClaimVfsWithheld: {
    severity: "error",
    cause:
      "Each VF that fits has a taint, which says why claims cannot have it now. The scheduler places the pod when a taint is removed.",
    next: "switchyard vfs --resource {resource}",
  },
  ClaimVfsExhausted: {
    severity: "error",
    cause: "On each node, other claims have the VFs that fit, or the VFs have a taint that keeps claims away.",
    next: "switchyard vfs --resource {resource}",
  },
  PodNetworkMissing: {
    severity: "error",
    cause: "Multus cannot start the pod before the NetworkAttachmentDefinition exists.",
    next: "kubectl -n {namespace} get network-attachment-definitions",
  },
  PodNetworkInOtherNamespace: {
    severity: "error",
    cause: "A name without a namespace in the annotation k8s.v1.cni.cncf.io/networks means the namespace of the pod.",
    next: "kubectl get network-attachment-definitions -A",
  },
  PodLacksResource: {
    severity: "warning",
    cause:
      "The network needs a VF, and the pod requests no resource for it. The network resources injector was off or not reachable when the pod was created.",
    next: "kubectl -n {namespace} get pod {name} -o yaml",
  },
  PodNetworksMalformed: {
    severity: "error",
    cause: "Multus cannot read the annotation k8s.v1.cni.cncf.io/networks.",
    next: "kubectl -n {namespace} get pod {name} -o yaml",
  },
  FinalizerBlocksDeletion: {
    severity: "error",
    cause: "The object waits for a finalizer of the Go operator, which is no longer there to remove it.",
    next: 'kubectl -n {namespace} patch {resource} {name} --type merge -p \'{"metadata":{"finalizers":null}}\'',
  },
  ConfigMapNearLimit: {
    severity: "warning",
    cause:
      "The ConfigMap has a key for each node, and the API server refuses objects above 1 MiB. From then on, no node gets a new configuration of the device plugin.",
    next: "kubectl -n {namespace} get configmap {name} -o yaml",
  },
  WebhookWithoutEndpoints: {
    severity: "error",
    cause:
      "With failurePolicy Fail and no running server, the API server refuses every request that the webhook selects.",
    next: "kubectl -n {operatorNamespace} get endpointslices,pods",
  },
  WebhookWithoutCa: {
    severity: "error",
    cause: "The API server cannot trust the server of the webhook without a CA bundle.",
    next: "kubectl get {resource} {name} -o yaml",
  },
  WebhookCaExpired: {
    severity: "error",
    cause:
      "The API server refuses the certificate of the webhook's server. With failurePolicy Fail, it refuses every request that the webhook selects.",
    next: "kubectl -n {operatorNamespace} logs -l name=sriov-network-operator --tail 100",
  },
  WebhookCaExpiresSoon: {
    severity: "warning",
    cause: "The operator or cert-manager renews certificates long before they expire. Something prevents it.",
    next: "kubectl -n {operatorNamespace} logs -l name=sriov-network-operator --tail 100",
  },
  ServerCertificateExpired: {
    severity: "error",
    cause:
      "The API server refuses the server. With failurePolicy Fail, it refuses every request that the webhook selects.",
    next: "kubectl -n {namespace} describe secret {name}",
  },
  ServerCertificateExpiresSoon: {
    severity: "warning",
    cause: "The operator or cert-manager renews certificates long before they expire. Something prevents it.",
    next: "kubectl -n {namespace} describe secret {name}",
  },
  ServerCertificateUntrusted: {
    severity: "error",
    cause:
      "The CA bundle of the webhook configuration lacks the CA of the server's certificate: two programs wrote them, or a renewal was interrupted.",
    next: "kubectl -n {namespace} describe secret {name}",
  },
  OperatorNotLeading: {
    severity: "error",
    cause: "No replica of the operator has renewed its lease. Changes of policies, pools and networks have no effect.",
    next: "kubectl -n {namespace} get pods -l name=sriov-network-operator",
  },
  NotInstalled: {
    severity: "error",
    cause: "The cluster has no CustomResourceDefinition of Switchyard, so no object of it can exist.",
    next: "kubectl get customresourcedefinitions",
  },
  OperatorNotInstalled: {
    severity: "error",
    cause:
      "The namespace has no Deployment of the operator. Nothing acts on policies, pools and networks. The flag --namespace names the namespace.",
    next: "kubectl get deployments -A -l app.kubernetes.io/name=switchyard",
  },
  OperatorNotRunning: {
    severity: "error",
    cause:
      "No pod of the operator is available. Changes of policies, pools and networks have no effect, and no drain starts or ends. Nodes keep their configuration.",
    next: "kubectl -n {namespace} logs -l name=sriov-network-operator --tail 50 --previous",
  },
  OperatorUnknown: {
    severity: "info",
    cause:
      "The input has neither the Deployment of the operator, nor its pods, nor its Lease, so this diagnosis does not say whether the operator runs.",
    next: "kubectl -n {namespace} get deployments,pods,leases -o yaml",
  },
  ContainerNotRunning: {
    severity: "error",
    cause: "The kubelet cannot start the container, or the container ends again and again.",
    next: "kubectl -n {namespace} describe pod {name}",
  },
  ContainerOutOfMemory: {
    severity: "warning",
    cause: "The kernel killed the container, because it used more memory than its limit. It runs again.",
    next: "kubectl -n {namespace} describe pod {name}",
  },
  ComponentNotAvailable: {
    severity: "warning",
    cause: "Pods of the component do not run on all nodes that need them.",
    next: "kubectl -n {namespace} describe daemonset {name}",
  },
  CrdVersionsDiffer: {
    severity: "warning",
    cause: "The CustomResourceDefinitions are of several versions of Switchyard. An upgrade was interrupted.",
    next: "kubectl get crd -o custom-columns=NAME:.metadata.name,VERSION:.metadata.annotations",
  },
  ConditionUnknownReason: {
    severity: "warning",
    cause:
      "A condition reports a problem with a reason that this version of switchyard does not know. Its message has the details.",
    next: "kubectl -n {namespace} describe {resource} {name}",
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

/** The stable code of a finding. */
export type FindingCode = keyof typeof findingCatalogue;
