// SPDX-License-Identifier: Apache-2.0
/** Report is what the HTML page of plan, doctor, verify and vfs says, without any HTML. Texts are short and without control characters. */
import type { Impact } from "@switchyard/plan";
import type { Severity } from "../diagnosis/finding-catalogue.ts";
import type { ResultCounts } from "../output/doctor-text.ts";

export interface Report {
  readonly title: string;
  /** The result in a sentence. */
  readonly summary: string;
  /** Facts about the report itself: the command, the namespace, the time of the data. */
  readonly facts: readonly LabeledValue[];
  /** Absent if the command does not look for findings. */
  readonly findings?: readonly FindingGroup[];
  /** The number of objects by kind and result. */
  readonly results?: readonly ResultCounts[];
  /** Nodes that would change, those with the same steps together. Absent if the command does not plan. */
  readonly plans?: readonly PlanGroup[];
  /** What nodes cannot apply. */
  readonly problems?: readonly string[];
  /** What pods on the nodes found out. Absent if the command creates no pods. */
  readonly verifications?: readonly VerificationView[];
  /** Heads of the columns of VfRangeView.cells. */
  readonly columns: readonly string[];
  /** Nodes with errors first, then by name. */
  readonly nodes: readonly NodeView[];
}

export interface LabeledValue {
  readonly label: string;
  readonly value: string;
}

/** Findings with the same code. */
export interface FindingGroup {
  readonly code: string;
  readonly severity: Severity;
  readonly cause: string;
  readonly findings: readonly FindingView[];
  /** Names of further objects, which have the finding, too. */
  readonly more: readonly string[];
}

export interface FindingView {
  /** "SriovNetworkNodePolicy/ns/name". */
  readonly object: string;
  /** The node that the finding is about, if it is about one. */
  readonly node?: string;
  readonly field?: string;
  readonly message: string;
  readonly evidence: readonly string[];
  /** The next command to run. */
  readonly next: string;
  /** What it explains, a line each; absent if it explains nothing else. */
  readonly consequences?: readonly string[];
}

export interface PlanGroup {
  readonly nodes: readonly string[];
  readonly impact: Impact;
  readonly steps: readonly StepView[];
  readonly reasons: readonly { readonly field: string; readonly text: string }[];
  /** Which pods are evicted, a sentence each. Empty if the pods are not known. */
  readonly pods: readonly string[];
}

/** The checks of one network. */
export interface VerificationView {
  /** "SriovNetwork default/fast: resource openshift.io/fast, VLAN 100". */
  readonly title: string;
  readonly table: TableView;
  readonly failures: readonly FailureView[];
}

/** The layers of a check that failed, or of those that are not shown. */
export interface FailureView {
  /** "w1 -> w2". */
  readonly place: string;
  readonly layer: string;
  readonly lines: readonly {
    readonly sign: string;
    readonly layer: string;
    readonly text: string;
    readonly next?: string;
  }[];
}

export interface StepView {
  /** "+" adds, "~" changes, "-" removes, "…" stands for steps that are not known yet. */
  readonly sign: string;
  readonly text: string;
}

/** What a tile of the overview shows. "unknown" is a node that has not reported. */
export type NodeHealth = Severity | "healthy" | "unknown";

export interface NodeView {
  readonly name: string;
  readonly health: NodeHealth;
  /** "2 errors", "waits for a drain". */
  readonly words: string;
  /** Codes of its findings. */
  readonly codes: readonly string[];
  readonly facts: readonly LabeledValue[];
  readonly pfs: readonly PfView[];
  /** AF_XDP devices, pools and software bridges, as far as the node has some. */
  readonly tables: readonly TableView[];
}

export interface TableView {
  readonly title: string;
  readonly heads: readonly string[];
  /** The cells of each row; "-" if there is no value. */
  readonly rows: readonly (readonly string[])[];
}

export interface PfView {
  /** Its name, or its address if it has none. */
  readonly name: string;
  /** "0000:3b:00.0, mlx5_core, 25 Gb/s, MTU 9000, link up". */
  readonly words: string;
  /** "8 of 64 VFs, 3 in pods". */
  readonly usage: string;
  /** The VFs in order, those that look the same together. */
  readonly bars: readonly VfBar[];
  readonly rows: readonly VfRangeView[];
}

/** pod: in a pod. maybe: perhaps in a pod. free: of a resource and in no known pod. plain: of no resource. */
export type VfUse = "pod" | "maybe" | "free" | "plain";

export interface VfBar {
  readonly use: VfUse;
  readonly count: number;
}

/** Consecutive VFs with equal properties. */
export interface VfRangeView {
  /** "0-3". */
  readonly vfs: string;
  readonly use: VfUse;
  /** Values of the columns; "-" if there is none. */
  readonly cells: readonly string[];
}
