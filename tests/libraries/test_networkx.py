import pytest
from table import compare, lines, table

pytest.importorskip("networkx")

SETUP = """
import networkx as nx
A = np.array([[0, 2, 0, 1], [2, 0, 3, 0], [0, 3, 0, 4], [1, 0, 4, 0]])
E = np.array([[0, 1], [1, 2], [2, 0], [2, 3]])
W = np.array([0.5, 1.0, 2.0, 0.25])
G = nx.from_numpy_array(A)
"""
CALLS = lines("""
sorted(nx.from_numpy_array(A).edges(data=True))
sorted(nx.Graph(A).edges)
sorted(nx.from_numpy_array(A / 2).edges(data="weight"))
nx.to_numpy_array(G)
nx.to_numpy_array(G, nodelist=np.array([3, 2, 1, 0]))
nx.adjacency_matrix(G).toarray() @ A
sorted(nx.Graph(E.tolist()).edges)
nx.pagerank(G)
nx.shortest_path_length(G, 0, 2, weight="weight")
nx.floyd_warshall_numpy(G)
nx.laplacian_matrix(G).toarray()
nx.spring_layout(G, pos={n: p for n, p in enumerate(np.eye(4)[:, :2])}, fixed=[0, 1, 2, 3])
nx.spring_layout(G, seed=0, center=np.array([1.0, 2.0]))
nx.circular_layout(G, center=np.zeros(2))
nx.eigenvector_centrality_numpy(G)
nx.attr_matrix(G)[0]
nx.minimum_spanning_tree(G).size(weight="weight")
sorted(nx.bipartite.from_biadjacency_matrix(__import__("scipy.sparse").sparse.csr_array(A)).edges)
nx.algebraic_connectivity(G, weight="weight")
[sorted(c) for c in nx.community.greedy_modularity_communities(G)]
""") + [
    "G.add_weighted_edges_from(zip(E[:, 0], E[:, 1], W))\nsorted(G.edges(data='weight'))",
    "nx.set_node_attributes(G, dict(enumerate(W)), 'w')\ndict(G.nodes(data='w'))",
    "H = nx.Graph()\nH.add_nodes_from(np.arange(3))\nlist(H)",
]  # fmt: skip


@table(CALLS, {})
def test_networkx(call):
    compare(call, SETUP)
