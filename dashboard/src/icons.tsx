// Icons after Lucide (ISC), 24 units wide.
const paths: Record<string, string> = {
	ask: "M21 15a2 2 0 0 1-2 2H7l-4 4V5a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2z",
	search: "M11 19a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM21 21l-4.3-4.3",
	collections: "M4 19.500A2.500 2.500 0 0 1 6.500 17H20V3H6.500A2.500 2.500 0 0 0 4 5.500zM4 19.500A2.500 2.500 0 0 0 6.500 22H20v-5",
	sources: "M12 8c5 0 9-1.300 9-3s-4-3-9-3-9 1.300-9 3 4 3 9 3zM3 5v14c0 1.700 4 3 9 3s9-1.300 9-3V5M3 12c0 1.700 4 3 9 3s9-1.300 9-3",
	unanswered: "M12 22a10 10 0 1 0 0-20 10 10 0 0 0 0 20zM9 9a3 3 0 1 1 4 2.800c-1 .4-1 1.200-1 2.200M12 17h.01",
	usage: "M3 3v18h18M8 17v-6M13 17V7M18 17v-4",
	events: "M12 22s8-4 8-10V5l-8-3-8 3v7c0 6 8 10 8 10z",
	settings: "M4 21v-7M4 10V3M12 21v-9M12 8V3M20 21v-5M20 12V3M2 14h4M10 8h4M18 16h4",
	reference: "M16 18l6-6-6-6M8 6l-6 6 6 6",
	up: "M7 10v12M15 5.880 14 10h5.830a2 2 0 0 1 1.920 2.560l-2.330 8A2 2 0 0 1 17.500 22H4a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2h2.760a2 2 0 0 0 1.790-1.110L12 2a3.130 3.130 0 0 1 3 3.880z",
	down: "M17 14V2M9 18.120 10 14H4.170a2 2 0 0 1-1.920-2.560l2.330-8A2 2 0 0 1 6.500 2H20a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-2.760a2 2 0 0 0-1.790 1.110L12 22a3.130 3.130 0 0 1-3-3.880z",
	menu: "M4 6h16M4 12h16M4 18h16",
	close: "M18 6L6 18M6 6l12 12",
	book: "M2 4c4-1 7 0 10 2 3-2 6-3 10-2v15c-4-1-7 0-10 2-3-2-6-3-10-2zM12 6v15",
	copy: "M9 9h12v12H9zM5 15H3V3h12v2",
};

export function Icon({ name, size = 16 }: { name: string; size?: number }) {
	return (
		<svg width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
			<path d={paths[name] ?? ""} />
		</svg>
	);
}
