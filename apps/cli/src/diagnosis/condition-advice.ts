// SPDX-License-Identifier: Apache-2.0
/**
 * adviceOnReason returns how serious the reason of a condition is, and the next command. What a reason means is in
 * libs/api/src/condition-types.ts. Reasons that say that all is well have no advice.
 */
import type {
  certificateReasons,
  devicePluginConfigMapReasons,
  devicePluginReasons,
  drainReasons,
  hardwareOffloadReasons,
  networkReasons,
  nodeStateReasons,
  operatorConfigReasons,
  podsWaitingReasons,
  policyReasons,
  reconcileFailedReasons,
  resetHeldReasons,
  rolledBackReasons,
  vfsUnhealthyReasons,
  waitingForLockReasons,
} from "@switchyard/api";
import type { Severity } from "./finding-catalogue.ts";

export interface ReasonAdvice {
  readonly severity: Severity;
  readonly next: string;
}

interface Tables {
  readonly nodeStateReasons: typeof nodeStateReasons;
  readonly rolledBackReasons: typeof rolledBackReasons;
  readonly vfsUnhealthyReasons: typeof vfsUnhealthyReasons;
  readonly waitingForLockReasons: typeof waitingForLockReasons;
  readonly reconcileFailedReasons: typeof reconcileFailedReasons;
  readonly drainReasons: typeof drainReasons;
  readonly policyReasons: typeof policyReasons;
  readonly operatorConfigReasons: typeof operatorConfigReasons;
  readonly networkReasons: typeof networkReasons;
  readonly devicePluginReasons: typeof devicePluginReasons;
  readonly devicePluginConfigMapReasons: typeof devicePluginConfigMapReasons;
  readonly certificateReasons: typeof certificateReasons;
  readonly hardwareOffloadReasons: typeof hardwareOffloadReasons;
  readonly podsWaitingReasons: typeof podsWaitingReasons;
  readonly resetHeldReasons: typeof resetHeldReasons;
}

/** Name of a table in libs/api/src/condition-types.ts. */
export type ReasonTableName = keyof Tables;

/** Each reason of each table: the compiler finds one that is missing. */
type AllAdvice = {
  readonly [T in ReasonTableName]: Readonly<Record<Tables[T][keyof Tables[T]] & string, ReasonAdvice | undefined>>;
};

const describe = (resource: string): string => `kubectl -n {namespace} describe ${resource} {name}`;
const object = describe("{resource}");
const operatorLog = "kubectl -n {operatorNamespace} logs -l name=sriov-network-operator --tail 100";
const daemonLog = "kubectl -n {operatorNamespace} logs {daemonPod} --tail 100";
const podsOnNode = "kubectl get pods -A -o wide --field-selector spec.nodeName={name}";
const devicePluginLog = "kubectl -n {namespace} logs -l app=sriov-device-plugin --all-containers --tail 100";

const offloadStatus = "kubectl -n {namespace} get sriovoperatorconfig {name} -o yaml";

const vfsOnNode = "switchyard vfs --node {name}";

const asError = (next: string): ReasonAdvice => ({ severity: "error", next });
const asWarning = (next: string): ReasonAdvice => ({ severity: "warning", next });
const asInfo = (next: string): ReasonAdvice => ({ severity: "info", next });

const advice: AllAdvice = {
  nodeStateReasons: {
    Configured: undefined,
    Configuring: asInfo(daemonLog),
    WaitingForDrain: asInfo("kubectl -n {namespace} get sriovnetworknodestates"),
    Rebooting: asInfo("kubectl get node {name} --watch"),
    NotPossible: asError("switchyard plan --node {name}"),
    PowerCycleRequired: asError(object),
    StepFailed: asError(daemonLog),
    StepHangs: asError(daemonLog),
    DiscoveryFailed: asError(daemonLog),
    PassFailed: asError(daemonLog),
  },
  vfsUnhealthyReasons: {
    NoCarrier: asError(vfsOnNode),
    DriverLost: asError(vfsOnNode),
    DeviceError: asError(vfsOnNode),
    PcieErrors: asError(vfsOnNode),
    PfGone: asError(vfsOnNode),
    VfGone: asError(vfsOnNode),
  },
  rolledBackReasons: { ApiServerUnreachable: asError(daemonLog), GatewayUnreachable: asError(daemonLog) },
  waitingForLockReasons: { LockNotFree: asWarning(object) },
  reconcileFailedReasons: { Retrying: asError(operatorLog) },
  drainReasons: {
    WaitingForSlot: asInfo("kubectl -n {namespace} get sriovnetworknodestates"),
    HeldByPool: asWarning("kubectl -n {namespace} get sriovnetworkpoolconfigs -o yaml"),
    WaitingForMachineConfigPool: asInfo("kubectl get machineconfigpools"),
    LookingForPods: asInfo(podsOnNode),
    EvictingPods: asInfo(podsOnNode),
    PodsStay: asError(podsOnNode),
    VfPodsGone: undefined,
    AllPodsGone: undefined,
    DaemonStalled: asError("kubectl -n {operatorNamespace} get pods -o wide -l app=sriov-network-config-daemon"),
    Draining: asInfo("kubectl -n {namespace} get sriovnetworknodestates"),
    OnlyNode: asInfo("kubectl get nodes"),
  },
  policyReasons: {
    Configured: undefined,
    Configuring: asInfo("kubectl -n {namespace} get sriovnetworknodestates"),
    NoNodesMatched: asWarning("kubectl get nodes --show-labels"),
    NoNicsMatched: asWarning(object),
    Invalid: asError(object),
    NodesFailed: asError("kubectl -n {namespace} get sriovnetworknodestates"),
    DaemonStalled: asError("kubectl -n {namespace} get pods -o wide -l app=sriov-network-config-daemon"),
    Overlap: asError("kubectl -n {namespace} get sriovnetworkpoolconfigs -o yaml"),
    Ignored: asWarning(object),
    NoOperatorConfig: asError("kubectl -n {namespace} get sriovoperatorconfigs"),
  },
  operatorConfigReasons: {
    OperatorConfigReady: undefined,
    OffloadServiceMissing: undefined, // a finding of its own
    FieldsReplaced: asWarning(operatorLog),
    OperatorConfigSyncFailed: asError(operatorLog),
    UnsupportedConfiguration: asError(describe("{resource}")),
    RollingOut: asInfo("kubectl -n {namespace} get daemonsets,deployments"),
  },
  networkReasons: {
    NetworkReady: undefined,
    FieldsContested: asError(object),
    FieldsReplaced: asWarning(object),
    NetworkAttachmentDefinitionInvalid: asError(object),
    NetworkAttachmentDefinitionNotFound: asError(object),
    NamespaceNotFound: asError("kubectl get namespaces"),
  },
  devicePluginReasons: {
    Configured: undefined,
    Configuring: asInfo(devicePluginLog),
    NotRegistered: asWarning(devicePluginLog),
    VfsMissing: asError(daemonLog),
    VfsHeld: asInfo(devicePluginLog),
    OfferedToClaims: undefined, // as the pool or the gate asks for it
    NotPossible: asError(object),
    NotApplied: asError(devicePluginLog),
  },
  devicePluginConfigMapReasons: {
    Written: undefined,
    TooLarge: asError("kubectl -n {namespace} get configmap device-plugin-config -o yaml"),
    NotPossible: asWarning(describe("sriovoperatorconfig")),
    Refused: asError(operatorLog),
  },
  certificateReasons: {
    Valid: undefined,
    NotValidNow: asError(operatorLog),
    ForeignSecret: asWarning("kubectl -n {namespace} get secrets"),
    Refused: asError(operatorLog),
  },
  hardwareOffloadReasons: {
    Ready: undefined,
    Progressing: asInfo(offloadStatus),
    Degraded: asError(offloadStatus),
  },
  podsWaitingReasons: { NoInterface: undefined, NoPods: undefined }, // a finding of its own
  resetHeldReasons: {
    NamespaceTerminating: asWarning(object),
    DefinitionTerminating: asWarning(object),
    DefinitionMissing: asWarning(object),
    RestorePending: asWarning(object),
    MassLoss: asWarning(object),
  },
};

/** Undefined if the reason is unknown or reports success. */
export function adviceOnReason(table: ReasonTableName, reason: string): ReasonAdvice | undefined {
  const ofTable: Readonly<Record<string, ReasonAdvice | undefined>> = advice[table];
  return Object.hasOwn(ofTable, reason) ? ofTable[reason] : undefined;
}

/** All reasons with advice. */
export function advisedReasons(): readonly { readonly table: ReasonTableName; readonly reason: string }[] {
  return reasonTableNames.flatMap((table) =>
    Object.entries(advice[table]).flatMap(([reason, entry]) => (entry === undefined ? [] : [{ table, reason }])),
  );
}

/** Names of the tables, in the order of the reference. */
export const reasonTableNames: readonly ReasonTableName[] = [
  "nodeStateReasons",
  "rolledBackReasons",
  "vfsUnhealthyReasons",
  "waitingForLockReasons",
  "reconcileFailedReasons",
  "drainReasons",
  "policyReasons",
  "operatorConfigReasons",
  "networkReasons",
  "devicePluginReasons",
  "devicePluginConfigMapReasons",
  "certificateReasons",
  "hardwareOffloadReasons",
  "podsWaitingReasons",
  "resetHeldReasons",
];
