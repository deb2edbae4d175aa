// SPDX-License-Identifier: GPL-2.0
/*
 * Ends interrupts that an emulated processor left in service.
 *
 * QEMU 10.0 sometimes loses the end of an interrupt: its bit stays set in the
 * in-service register of the local APIC, and the processor gets no interrupt of
 * the same or a lower priority any more. After an interrupt of a device, the
 * device is silent. After one of the timer, which has a higher priority, what
 * sleeps on the processor never wakes. RCU does not report this, because the
 * processor is idle.
 *
 * Each processor looks at its own APIC from time to time. Without a timer it
 * cannot, but interrupts from other processors have a higher priority. So each
 * watches the others, and asks one that is silent to look.
 */
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/apicdef.h>
#include <asm/irq_vectors.h>
#include <asm/msr.h>

#define LAB_TICK_PERIOD_NS (250 * NSEC_PER_MSEC)
#define LAB_TICK_SILENCE_NS (2 * NSEC_PER_SEC)
/* Each register of 32 bits has 16 bytes. */
#define LAB_TICK_IN_SERVICE(vector) (APIC_ISR + (vector) / 32 * 0x10)

struct lab_tick {
	struct hrtimer timer;
	u64 seen_ns; /* when the timer last fired */
	u64 asked_ns; /* when the processor was last asked */
	call_single_data_t ask;
};

static DEFINE_PER_CPU(struct lab_tick, lab_ticks);
/* The page of the APIC, at which each processor finds its own. */
static void __iomem *lab_tick_apic;

/* Returns the vector of the highest priority that is in service, or -1. */
static int lab_tick_in_service(void)
{
	int vector;
	u32 bits;

	for (vector = NR_VECTORS - 32; vector >= 0; vector -= 32) {
		bits = readl(lab_tick_apic + LAB_TICK_IN_SERVICE(vector));
		if (bits)
			return vector + fls(bits) - 1;
	}
	return -1;
}

/*
 * Linux ends each interrupt in the APIC before others can occur, and those that
 * call this function before they do their work. So none is in service here.
 */
static void lab_tick_end(void *unused)
{
	int vector;

	while ((vector = lab_tick_in_service()) >= 0) {
		writel(APIC_EOI_ACK, lab_tick_apic + APIC_EOI);
		pr_err("lab_tick: ended interrupt %#x that processor %u had left in service\n",
		       vector, smp_processor_id());
	}
}

static enum hrtimer_restart lab_tick_watch(struct hrtimer *timer)
{
	/* The clock also runs while the processor that counts jiffies is silent. */
	u64 now = ktime_get_ns();
	int cpu;

	lab_tick_end(NULL);
	WRITE_ONCE(this_cpu_ptr(&lab_ticks)->seen_ns, now);
	for_each_online_cpu(cpu) {
		struct lab_tick *other = per_cpu_ptr(&lab_ticks, cpu);
		u64 heard = max(READ_ONCE(other->seen_ns), other->asked_ns);

		if (cpu == smp_processor_id() || now < heard + LAB_TICK_SILENCE_NS)
			continue;
		other->asked_ns = now;
		smp_call_function_single_async(cpu, &other->ask);
	}
	hrtimer_forward_now(timer, ns_to_ktime(LAB_TICK_PERIOD_NS));
	return HRTIMER_RESTART;
}

static void lab_tick_start(void *unused)
{
	struct lab_tick *own = this_cpu_ptr(&lab_ticks);

	own->seen_ns = ktime_get_ns();
	hrtimer_start(&own->timer, ns_to_ktime(LAB_TICK_PERIOD_NS), HRTIMER_MODE_REL_PINNED_HARD);
}

static int __init lab_tick_init(void)
{
	u64 base;
	int cpu;

	rdmsrl(MSR_IA32_APICBASE, base);
	if (base & X2APIC_ENABLE)
		return -ENODEV; /* its registers are not in memory */
	lab_tick_apic = ioremap(base & MSR_IA32_APICBASE_BASE, PAGE_SIZE);
	if (!lab_tick_apic)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct lab_tick *tick = per_cpu_ptr(&lab_ticks, cpu);

		INIT_CSD(&tick->ask, lab_tick_end, NULL);
		hrtimer_init(&tick->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		tick->timer.function = lab_tick_watch;
	}
	on_each_cpu(lab_tick_start, NULL, 1);
	return 0;
}
module_init(lab_tick_init);

/* There is no exit: the module stays until the guest ends. */
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Ends interrupts that QEMU has left in service");
