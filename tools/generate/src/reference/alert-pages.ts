// SPDX-License-Identifier: Apache-2.0
/**
 * A page for each alert, to which its runbook_url leads: what it means for pods, what to look at, and what it measures.
 * `docs/reference/alerts/SwitchyardNobodyLeads.md`, for example.
 */
import { GenerateError } from "../generate-error.ts";
import { code, table } from "../markdown.ts";
import type { Alert } from "./alerts-page.ts";
import type { Metric } from "./metrics-page.ts";

/** What a person at night needs beside the alert's own text. */
interface Runbook {
  /** What happens to running and new pods meanwhile. */
  readonly pods: string;
  /** Commands, in the order in which they help. */
  readonly commands: readonly string[];
}

const namespace = "-n sriov-network-operator";
const logs = (app: string) => `kubectl ${namespace} logs -l ${app} --tail=200`;
const operatorLog = logs("name=sriov-network-operator");
const daemonPods = `kubectl ${namespace} get pods -o wide -l app=sriov-network-config-daemon`;
const states = `kubectl ${namespace} get sriovnetworknodestates -o wide`;
const config = `kubectl ${namespace} describe sriovoperatorconfig default`;
const doctor = "switchyard doctor";
const keepRunning = "Running pods keep their VFs.";

/** An alert without an entry is refused. */
const runbooks: Readonly<Record<string, Runbook>> = {
  SwitchyardCrdsOutdated: {
    pods: `${keepRunning} Changes of policies and networks have no effect.`,
    commands: [operatorLog, "kubectl apply --server-side --force-conflicts -f charts/switchyard/crds"],
  },
  SwitchyardNobodyLeads: {
    pods: `${keepRunning} A node that is being drained stays cordoned.`,
    commands: [doctor, `kubectl ${namespace} get lease,pods`, `${operatorLog} --previous`],
  },
  SwitchyardReconcilesFail: { pods: `${keepRunning} Some changes are late.`, commands: [doctor, operatorLog] },
  SwitchyardQueueGrows: {
    pods: `${keepRunning} Changes are late.`,
    commands: [`kubectl ${namespace} top pods`, "kubectl get --raw /readyz?verbose"],
  },
  SwitchyardApiRequestsFail: { pods: `${keepRunning} Changes are late.`, commands: [operatorLog, doctor] },
  SwitchyardCacheStale: {
    pods: `${keepRunning} Nothing that needs the cache changes.`,
    commands: [operatorLog, doctor],
  },
  SwitchyardNodeCacheStale: {
    pods: `${keepRunning} Changes have no effect on these nodes.`,
    commands: [daemonPods, logs("app=sriov-network-config-daemon"), "kubectl get nodes"],
  },
  SwitchyardCertificateExpires: {
    pods: `${keepRunning} When the certificate has ended, changes of policies and new pods with VFs are refused.`,
    commands: [config, `kubectl ${namespace} get secrets,certificates`, operatorLog],
  },
  SwitchyardCertificateInvalid: {
    pods: `${keepRunning} Changes of policies, or new pods with VFs, may be refused.`,
    commands: [config, `kubectl ${namespace} get secrets`, operatorLog],
  },
  SwitchyardEventLoopBusy: {
    pods: `${keepRunning} Changes are late; a busy webhook delays kubectl.`,
    commands: [`kubectl ${namespace} top pods`],
  },
  SwitchyardNodesFailed: {
    pods: "The VFs of the nodes that a policy could not configure are not offered to new pods. Others are.",
    commands: [doctor, states],
  },
  SwitchyardNodesUnfinished: { pods: `${keepRunning} New VFs come later.`, commands: [states, doctor] },
  SwitchyardDrainStuck: {
    pods: "The node is cordoned. Pods that a PodDisruptionBudget protects keep running on it.",
    commands: [doctor, "kubectl get pdb -A", states],
  },
  SwitchyardDrainSlotStalled: {
    pods: "The node is cordoned, and other nodes of its pool wait.",
    commands: [doctor, daemonPods, `kubectl ${namespace} get sriovnetworkpoolconfigs`],
  },
  SwitchyardNodesUnheard: {
    pods: "Running pods keep their VFs. Changes on these nodes have no effect, and changes by hand are not repaired.",
    commands: [daemonPods, logs("app=sriov-network-config-daemon"), doctor],
  },
  SwitchyardPodsUnavailable: {
    pods: "Running pods keep their VFs. On the nodes without the pod, changes have no effect, and new VFs may not be offered.",
    commands: [`kubectl ${namespace} get daemonsets`, `kubectl ${namespace} get pods -o wide`, doctor],
  },
  SwitchyardNetworksDegraded: {
    pods: "Running pods keep their networks. New pods may not start.",
    commands: [doctor, "kubectl get sriovnetworks,sriovibnetworks,ovsnetworks,bridgenetworks -A"],
  },
  SwitchyardDaemonsNotScraped: {
    pods: "Running pods are not affected.",
    commands: [
      `kubectl ${namespace} get podmonitors,servicemonitors`,
      `helm ${namespace} get values switchyard --all -o yaml | grep -A 4 podMonitor`,
    ],
  },
  SwitchyardDegraded: { pods: "The object's message says it.", commands: [doctor, states] },
  SwitchyardPolicyStalled: { pods: `${keepRunning} New VFs come later.`, commands: [doctor, "kubectl get pdb -A"] },
  SwitchyardNodeFails: {
    pods: "What the failed step concerns is not offered to new pods.",
    commands: [doctor, states],
  },
  SwitchyardStepHangs: {
    pods: "VFs of the PF may be missing. Other PFs of the node work.",
    commands: [doctor, "kubectl debug node/NODE -it --image=busybox -- dmesg"],
  },
  SwitchyardEqualVfMacs: {
    pods: "Packets for one pod reach another one, and connections break without an error on the node.",
    commands: [doctor, "switchyard vfs --node NODE -o wide"],
  },
  SwitchyardVfsNotClean: {
    pods: "Running pods are not affected. New pods get other VFs, or wait.",
    commands: [states, logs("app=sriov-network-config-daemon")],
  },
  SwitchyardWebhookSlow: {
    pods: "Running pods are not affected. Changes of policies take long, and fail after the time limit of the webhook.",
    commands: [`kubectl ${namespace} top pods`, logs("app=operator-webhook")],
  },
};

/** The pages by their names below docs/reference: "alerts/SwitchyardNobodyLeads.md". Throws GenerateError for an alert without texts. */
export function alertPages(alerts: readonly Alert[], metrics: readonly Metric[]): ReadonlyMap<string, string> {
  const unknown = Object.keys(runbooks).find((name) => !alerts.some(({ alert }) => alert === name));
  if (unknown !== undefined)
    throw new GenerateError("NO_TEXT", unknown, "has a runbook in alert-pages.ts and is no alert");
  return new Map(alerts.map((alert) => [`alerts/${alert.alert}.md`, alertPage(alert, metrics)]));
}

function alertPage({ alert, expr, for: duration, labels, annotations }: Alert, metrics: readonly Metric[]): string {
  const runbook = runbooks[alert];
  if (runbook === undefined) {
    throw new GenerateError(
      "NO_TEXT",
      alert,
      "has no entry in runbooks of tools/generate/src/reference/alert-pages.ts",
    );
  }
  if (!annotations["runbook_url"]?.endsWith(`/docs/reference/alerts/${alert}.md`)) {
    throw new GenerateError(
      "NO_TEXT",
      alert,
      `has no annotation runbook_url that ends with /docs/reference/alerts/${alert}.md`,
    );
  }
  const used = metrics.filter(({ name }) => new RegExp(`\\b${name}(?:_bucket|_sum|_count)?\\b`).test(expr));
  return [
    `# ${alert}`,
    annotations["summary"] ?? "",
    annotations["description"] ?? "",
    "## Pods meanwhile",
    runbook.pods,
    "## What to look at",
    `\`\`\`sh\n${runbook.commands.join("\n")}\n\`\`\``,
    "[Find what is wrong](../../guide/doctor.md) describes `switchyard doctor`, which names the cause first.",
    "## When it fires",
    `Severity: ${labels["severity"] ?? "none"}.${duration === undefined ? "" : ` It fires after ${duration}.`}`,
    `\`\`\`promql\n${expr.trim()}\n\`\`\``,
    table(
      ["Metric", "Meaning"],
      used.map(({ name, help }) => [code(name), help]),
    ),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}
