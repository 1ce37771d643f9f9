const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const units: [Intl.RelativeTimeFormatUnit, number][] = [
	["year", 31536000],
	["month", 2592000],
	["day", 86400],
	["hour", 3600],
	["minute", 60],
];

/** Returns a time relative to now, such as "3 days ago". */
export function ago(time: string, now = Date.now()): string {
	const seconds = (Date.parse(time) - now) / 1000;
	for (const [unit, size] of units) {
		if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
	}
	return "just now";
}

export function exact(time: string): string {
	return new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

const grouped = new Intl.NumberFormat("en");
export function count(n: number): string {
	return grouped.format(n);
}

export function plural(n: number, one: string, many = one + "s"): string {
	return `${count(n)} ${n === 1 ? one : many}`;
}

export function bytes(n: number): string {
	return n < 1000 ? `${n} B` : n < 1e6 ? `${Math.round(n / 1000)} KB` : `${(n / 1e6).toFixed(1)} MB`;
}
