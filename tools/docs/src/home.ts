// SPDX-License-Identifier: Apache-2.0
/**
 * What the home page shows above the text of docs/index.md. It is not in that file, because GitHub would show it as a
 * table.
 */

/** A token of markdown-it, as far as it is read here. */
interface Token {
  readonly type: string;
  readonly tag: string;
}

/** Removes the title and the introduction of docs/index.md, which the hero repeats: all tokens before the first heading of level 2. */
export function removeIntroduction(tokens: Token[]): void {
  const first = tokens.findIndex(({ type, tag }) => type === "heading_open" && tag === "h2");
  tokens.splice(0, Math.max(0, first));
}

/** The front matter of VitePress's layout "home". */
export const home = {
  layout: "home",
  hero: {
    name: "Switchyard",
    text: "Virtual functions for Kubernetes pods",
    tagline:
      "Switchyard configures the NICs of a Kubernetes cluster so that pods can request SR-IOV virtual functions. " +
      "It is a drop-in replacement for the Go SR-IOV network operator.",
    image: { src: "/hero.svg", alt: "A NIC whose virtual functions lead to three pods" },
    actions: [
      { theme: "brand", text: "Install", link: "/guide/install" },
      { theme: "alt", text: "See the demo", link: "/guide/demo" },
      { theme: "alt", text: "Upgrade from the Go operator", link: "/guide/upgrade" },
    ],
  },
  features: [
    {
      title: "For administrators",
      details:
        "Every failure is a condition on the object that it concerns, with the device and the kernel's own error. " +
        "A node is drained only before existing VFs change or go, and where it is known who has them, only these pods leave.",
      link: "/guide/operate",
      linkText: "Operate a cluster",
    },
    {
      title: "For users of the Go operator",
      details:
        "The same API group, kinds, annotations and host files. Running pods keep their VFs during the upgrade, and the " +
        "way back is tested.",
      link: "/guide/upgrade",
      linkText: "Upgrade",
    },
    {
      title: "For GitOps pipelines",
      details:
        "The command switchyard validates manifests and shows which nodes a change drains, without a cluster. It calls " +
        "the same functions as the operator and the webhook.",
      link: "/cli",
      linkText: "Command line",
    },
    {
      title: "For security reviews",
      details:
        "Each daemon can write only the objects of its own node. Tests state what each token must not be able to do.",
      link: "/security",
      linkText: "Security",
    },
  ],
} as const;
